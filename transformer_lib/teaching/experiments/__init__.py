"""What a chapter and a benchmark share: the tasks, how a model is trained on them, what is measured."""
