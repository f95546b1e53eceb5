"""What explains and checks the components: figures, exercise checks, corpora, experiments, quizzes. Never a component."""

from transformer_lib.teaching import figures
from transformer_lib.teaching.figures import capture_attention, model_map
from transformer_lib.teaching.quiz import Question, quiz
from transformer_lib.teaching.quizzes import chapter_quiz
from transformer_lib.teaching.record import record

__all__ = ["Question", "capture_attention", "chapter_quiz", "figures", "model_map", "quiz", "record"]
