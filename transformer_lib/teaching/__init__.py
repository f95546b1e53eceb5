"""What explains and checks the components: figures, the model's map, exercise checks, quizzes. Never a component."""
