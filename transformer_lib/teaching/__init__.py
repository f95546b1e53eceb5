"""What explains and checks the components: figures, the model's map, exercise checks, quizzes. Never a component."""

from transformer_lib.teaching import figures
from transformer_lib.teaching.kept_attention import kept_attention
from transformer_lib.teaching.model_map import model_map
from transformer_lib.teaching.progress import progress
from transformer_lib.teaching.quiz import Question, quiz
from transformer_lib.teaching.record import record

__all__ = ["Question", "figures", "kept_attention", "model_map", "progress", "quiz", "record"]
