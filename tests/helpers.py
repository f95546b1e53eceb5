"""What several test files use: outputs compared together with their gradients, and arguments that are destroyed."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.testing import assert_close


def as_list(output):
    """Return one tensor, or several, as a list."""
    return [output] if isinstance(output, Tensor) else list(output)


def assert_equal_with_gradients(ours, theirs, inputs):
    """Both outputs (a tensor, or several of them) are equal, and so are their gradients with respect to all `inputs`."""
    ours, theirs = as_list(ours), as_list(theirs)
    upstream = [torch.randn_like(output) for output in ours]
    assert_close(ours, theirs)
    assert_close(*(torch.autograd.grad(outputs, inputs, upstream, retain_graph=True) for outputs in (ours, theirs)))


def with_gradients(function, inputs, upstream):
    """Return the output of `function(*inputs)` and its gradients with respect to each of the inputs."""
    leaves = [x.detach().clone().requires_grad_() for x in inputs]
    output = function(*leaves)
    return output, torch.autograd.grad(output, leaves, upstream)


def destroy(argument):
    """Overwrite `argument`, and what is in it, as a function that works in place may do."""
    if isinstance(argument, nn.Module):
        argument.train(not argument.training)
        destroy([*argument.parameters()])
    elif isinstance(argument, Tensor):
        argument.detach().fill_(1)
    elif isinstance(argument, np.ndarray):
        argument.fill(1)
    elif isinstance(argument, list | tuple):
        for part in argument:
            destroy(part)
    if isinstance(argument, list | set | dict):
        argument.clear()
