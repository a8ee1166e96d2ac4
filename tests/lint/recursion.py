#!/usr/bin/env python3
"""recursion.py OBJECT_DIR: fails on a cycle of calls, by the call graphs (-fcallgraph-info) that gcc leaves there.

It sees across files, but not through function pointers; clang-tidy's misc-no-recursion (./run lint --tidy) sees what
the optimiser folded away within one file.
"""
import pathlib
import re
import sys

from lint import finish


def load(folder):
    """function -> set of functions it calls; a static function's name carries its file. None without call graphs."""
    graph, files = {}, list(pathlib.Path(folder).glob('*.ci'))
    for path in files:
        for source, target in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', path.read_text()):
            graph.setdefault(source, set()).add(target)
    return graph if files else None


def components(graph):
    """Tarjan's strongly connected components, without recursion of our own."""
    index, low, stack, on_stack = {}, {}, [], set()
    for root in graph:
        if root in index:
            continue
        work = [(root, iter(graph[root]))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, targets = work[-1]
            for target in targets:
                if target not in index:
                    index[target] = low[target] = len(index)
                    stack.append(target)
                    on_stack.add(target)
                    work.append((target, iter(graph.get(target, ()))))
                    break
                if target in on_stack:
                    low[node] = min(low[node], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    cut = stack.index(node)
                    component, stack = stack[cut:], stack[:cut]
                    on_stack.difference_update(component)
                    if len(component) > 1 or node in graph.get(node, ()):
                        yield component


def main(folder):
    graph = load(folder)
    if graph is None:
        print('recursion: no call graphs (only gcc leaves them)')
        sys.exit(77)
    short = lambda name: name.rsplit(':', 1)[-1]
    finish('recursion', [' -> '.join(map(short, [*cycle, cycle[0]])) for cycle in components(graph)])


main(sys.argv[1])
