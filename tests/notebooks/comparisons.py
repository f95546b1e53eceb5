"""Finds comparisons whose answer nobody checks (pitfall 33): `a == b` alone in a line, or `print(torch.equal(a, b))`."""

import ast

# Calls that answer True or False, or a tensor of them.
ANSWERS = {"all", "allclose", "any", "array_equal", "eq", "equal", "isclose"}
# Calls that hand the answer of what they are called on, or called with, on.
HAND_ON = {"bool", "item", "numpy", "str", "tolist"}


def is_comparison(node):
    match node:
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return True
        case ast.BoolOp(values=values):
            return any(map(is_comparison, values))
        case ast.UnaryOp(operand=inner) | ast.FormattedValue(value=inner) | ast.NamedExpr(value=inner):
            return is_comparison(inner)
        case ast.JoinedStr(values=values) | ast.Tuple(elts=values) | ast.List(elts=values):
            return any(map(is_comparison, values))
        case ast.Call(func=ast.Name(name) | ast.Attribute(attr=name)) if name in ANSWERS:
            return True
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in HAND_ON and is_comparison(inner):
            return True
        case ast.Call(func=ast.Name("print" | "display" | "bool" | "str"), args=arguments):
            return any(map(is_comparison, arguments))
    return False


def bare_comparisons(tree):
    """Return the line and text of each statement of `tree` that is a comparison, or that prints one."""
    return [
        (node.lineno, ast.unparse(node)) for node in ast.walk(tree) if isinstance(node, ast.Expr) and is_comparison(node.value)
    ]
