"""The developer's commands: run a notebook, start a chapter, set the course's address."""
