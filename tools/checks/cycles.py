"""Cycles: groups of modules of a folder that include each other. A module is a header, its source and
the class behind it, where that has a header of its own (name_impl.h)."""
from collections import defaultdict
from pathlib import Path


def module_of(name):
    return str(Path(name).with_suffix("")).removesuffix("_impl")


def cycles(edges):
    """Strongly connected components of more than one module, the largest first; `edges`:
    {module: modules it includes}. Tarjan's algorithm, without recursion."""
    number, low, stack, on_stack, found = {}, {}, [], set(), []
    for root in sorted(edges):
        if root in number:
            continue
        work = [(root, iter(sorted(edges[root])))]
        number[root] = low[root] = len(number)
        stack.append(root)
        on_stack.add(root)
        while work:
            module, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[module])
                if low[module] == number[module]:
                    at = stack.index(module)
                    group = stack[at:]
                    del stack[at:]
                    on_stack -= set(group)
                    if len(group) > 1:
                        found.append(sorted(group))
            elif following not in number:
                number[following] = low[following] = len(number)
                stack.append(following)
                on_stack.add(following)
                work.append((following, iter(sorted(edges.get(following, ())))))
            elif following in on_stack:
                low[module] = min(low[module], number[following])
    return sorted(found, key=lambda group: (-len(group), group))


def by_folder(files, folder_of):
    """{folder: cycles among its modules}. `files`: {name: quoted includes}, tests left out."""
    edges = defaultdict(lambda: defaultdict(set))
    for name, targets in files.items():
        folder = folder_of(name)
        own = edges[folder][module_of(name)]
        for target in targets:
            if folder_of(target) == folder and module_of(target) != module_of(name):
                own.add(module_of(target))
    return {folder: cycles(modules) for folder, modules in edges.items()}
