"""No module runs what it reads: no eval, no pickles, no shells, no unsafe YAML; exec only on source of the package."""

import ast

import pytest
from helpers.source_tree import nodes_of

# They compile source of the package itself: kernels and rows of records.
COMPILERS = {
    "kernels/cuda_compiler.py", "kernels/enum_constants.py", "kernels/simd.py", "state/fields.py",
    "state/tables.py",
}  # fmt: skip
PICKLES = {"pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
SHELLS = {"os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
YAML = {f"yaml.{name}" for name in ("load", "load_all", "full_load", "full_load_all", "unsafe_load", "unsafe_load_all")}

LAST_WORDS = {"eval", "exec", "load"} | {name.rsplit(".", 1)[1] for name in SHELLS | YAML}
SAFE_LOADER = ("user_files.py", "yaml.load")  # with a loader of its own, made from SafeLoader


def find_problem(path: str, node: ast.AST) -> str:
    """Return what is wrong with a node, "" if nothing is."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        return next((f"imports {name}" for name in names if name.split(".")[0] in PICKLES), "")
    assert isinstance(node, ast.Call)
    last = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if last not in LAST_WORDS and not any(keyword.arg == "shell" for keyword in node.keywords):
        return ""
    name = ast.unparse(node.func)
    keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
    if name in {"eval", "builtins.eval"} or (name == "exec" and path not in COMPILERS):
        return f"calls {name}"
    if name in SHELLS or keywords.get("shell", "False") != "False":
        return f"{name} runs a shell"
    if name in YAML and (path, name) != SAFE_LOADER:
        return f"{name} builds any object; use yaml.safe_load"
    if name in {"np.load", "numpy.load"} and keywords.get("allow_pickle") != "False":
        return f"{name} without allow_pickle=False"
    if name == "torch.load" and keywords.get("weights_only") != "True":
        return f"{name} without weights_only=True"
    return ""


def test_no_module_runs_what_it_reads():
    found = [
        f"{path.as_posix()}:{node.lineno}: {problem}"
        for path, node in nodes_of(ast.Call, ast.Import, ast.ImportFrom)
        if (problem := find_problem(path.as_posix(), node))
    ]
    assert not found, "\n".join(found)


def test_the_compilers_still_compile():
    calls = {path.as_posix() for path, node in nodes_of(ast.Call) if getattr(node.func, "id", "") == "exec"}
    assert calls == COMPILERS


@pytest.mark.parametrize(
    "source",
    ["import pickle", "from marshal import loads", "eval(text)", "exec(text)", "os.system(line)",
     "subprocess.run(line, shell=True)", "subprocess.run(line, shell=wanted)", "yaml.load(file)", "np.load(path)",
     "np.load(path, allow_pickle=True)", "torch.load(path)"],
)  # fmt: skip
def test_each_of_them_is_found(source):
    statement = ast.parse(source).body[0]
    assert find_problem("driving/serve.py", statement.value if isinstance(statement, ast.Expr) else statement)
