# SPDX-License-Identifier: Apache-2.0
"""Problems of standard input and output: right programs pass every test, wrong ones do not, in two languages."""
import json

import pytest
from conftest import shared, write_lines

# Own solutions, by the id of the problem: for each language (right, wrong).
SOLUTIONS = {
    # Shortest way over digits: to a neighbour, or to any place of the same digit.
    2: {
        "python": (
            """
from collections import deque
s = input().strip()
places = {}
for i, c in enumerate(s):
    places.setdefault(c, []).append(i)
far = [-1] * len(s)
far[0] = 0
queue = deque([0])
while queue:
    i = queue.popleft()
    for j in places.pop(s[i], []) + [i - 1, i + 1]:
        if 0 <= j < len(s) and far[j] < 0:
            far[j] = far[i] + 1
            queue.append(j)
print(far[-1])
""",
            "s = input().strip()\nprint(len(s) - 1)\n",
        ),
        "cpp": (
            """
#include <bits/stdc++.h>
using namespace std;
int main() {
    string s;
    cin >> s;
    int n = s.size();
    vector<vector<int>> places(256);
    for (int i = 0; i < n; i++) places[s[i]].push_back(i);
    vector<int> far(n, -1);
    queue<int> todo;
    far[0] = 0;
    todo.push(0);
    while (!todo.empty()) {
        int i = todo.front();
        todo.pop();
        vector<int> next = {i - 1, i + 1};
        next.insert(next.end(), places[s[i]].begin(), places[s[i]].end());
        places[s[i]].clear();
        for (int j : next)
            if (j >= 0 && j < n && far[j] < 0) {
                far[j] = far[i] + 1;
                todo.push(j);
            }
    }
    cout << far[n - 1] << endl;
}
""",
            '#include <cstdio>\nint main() { puts("1"); }\n',
        ),
    },
    # How many entries of one list are missing in the other.
    3: {
        "python": (
            """
from collections import Counter
n = int(input())
old = Counter(input().strip() for _ in range(n))
new = Counter(input().strip() for _ in range(n))
print(sum((old - new).values()))
""",
            "n = int(input())\na = [input() for _ in range(n)]\nb = [input() for _ in range(n)]\n"
            "print(sum(x != y for x, y in zip(a, b)))\n",
        ),
        "cpp": (
            """
#include <iostream>
#include <map>
#include <string>
int main() {
    int n, changes = 0;
    std::cin >> n;
    std::map<std::string, int> count;
    std::string word;
    for (int i = 0; i < n && std::cin >> word; i++) count[word]++;
    for (int i = 0; i < n && std::cin >> word; i++)
        if (--count[word] < 0) changes++;
    std::cout << changes << "\\n";
}
""",
            "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n / 2; }\n",
        ),
    },
    # Ways to fill in an array in which each element has a neighbour that is not less.
    6: {
        "python": (
            """
M = 998244353
n = int(input())
a = list(map(int, input().split()))
K = 200
# grow[v]: the last element is v and still needs a right neighbour >= v; calm[v]: it needs none.
grow, calm = [0] * (K + 2), [0] * (K + 2)
for v in range(1, K + 1):
    if a[0] in (-1, v):
        grow[v] = 1
for x in a[1:]:
    ngrow, ncalm = [0] * (K + 2), [0] * (K + 2)
    below = [0] * (K + 2)
    for v in range(1, K + 1):
        below[v] = (below[v - 1] + grow[v] + calm[v]) % M
    above = 0
    for v in range(K, 0, -1):
        if x in (-1, v):
            # smaller before: the need of the smaller is met, v needs one itself
            ngrow[v] = below[v - 1]
            # equal before: both are met; larger before: only when the larger was met already
            ncalm[v] = (grow[v] + calm[v] + above) % M
        above = (above + calm[v]) % M
    grow, calm = ngrow, ncalm
print(sum(calm) % M)
""",
            "n = int(input())\na = input().split()\nprint(pow(200, a.count('-1'), 998244353))\n",
        ),
        "cpp": (
            """
#include <cstdio>
#include <vector>
int main() {
    const long long M = 998244353;
    const int K = 200;
    int n, x;
    if (scanf("%d", &n) != 1) return 1;
    std::vector<long long> grow(K + 2), calm(K + 2);
    for (int i = 0; i < n; i++) {
        if (scanf("%d", &x) != 1) return 1;
        std::vector<long long> g(K + 2), c(K + 2), below(K + 2);
        for (int v = 1; v <= K; v++) below[v] = (below[v - 1] + grow[v] + calm[v]) % M;
        long long above = 0;
        for (int v = K; v >= 1; v--) {
            if (x == -1 || x == v) {
                g[v] = i ? below[v - 1] : 1;
                c[v] = i ? (grow[v] + calm[v] + above) % M : 0;
            }
            above = (above + calm[v]) % M;
        }
        grow = g;
        calm = c;
    }
    long long sum = 0;
    for (int v = 1; v <= K; v++) sum += calm[v];
    printf("%lld\\n", sum % M);
}
""",
            '#include <cstdio>\nint main() { puts("200"); return 0; }\n',
        ),
    },
    # Segments of levels whose cells form a tree.
    8: {
        "python": (
            """
import sys
n, m, *levels = map(int, sys.stdin.read().split())
at = {(c // m, c % m): f for c, f in enumerate(levels[: n * m])}
place = {f: p for p, f in at.items()}
total = 0
for left in range(1, n * m + 1):
    root = {}
    def find(x):
        while root[x] != x:
            x = root[x]
        return x
    parts = 0
    for right in range(left, n * m + 1):
        i, j = place[right]
        root[right] = right
        near = [at.get(p, 0) for p in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1))]
        near = [f for f in near if left <= f < right]
        roots = {find(f) for f in near}
        if len(roots) < len(near):
            break
        parts += 1 - len(roots)
        for f in roots:
            root[f] = right
        total += parts == 1
print(total)
""",
            "n, m = map(int, input().split())\nprint(n * m * (n * m + 1) // 2)\n",
        ),
        "cpp": (
            """
#include <bits/stdc++.h>
using namespace std;
int root_of(vector<int> &root, int x) {
    while (root[x] != x) x = root[x];
    return x;
}
int main() {
    int n, m;
    cin >> n >> m;
    vector<int> level(n * m), cell(n * m + 1);
    for (int c = 0; c < n * m; c++) {
        cin >> level[c];
        cell[level[c]] = c;
    }
    long long total = 0;
    for (int left = 1; left <= n * m; left++) {
        vector<int> root(n * m + 1);
        int parts = 0;
        for (int right = left; right <= n * m; right++) {
            int i = cell[right] / m, j = cell[right] % m;
            const int di[] = {-1, 1, 0, 0}, dj[] = {0, 0, -1, 1};
            set<int> roots;
            size_t near = 0;
            root[right] = right;
            for (int d = 0; d < 4; d++) {
                int a = i + di[d], b = j + dj[d];
                if (a < 0 || a >= n || b < 0 || b >= m) continue;
                int f = level[a * m + b];
                if (f < left || f >= right) continue;
                near++;
                roots.insert(root_of(root, f));
            }
            if (roots.size() < near) break;
            parts += 1 - (int)roots.size();
            for (int r : roots) root[r] = right;
            total += parts == 1;
        }
    }
    cout << total << endl;
}
""",
            "#include <iostream>\nint main() { long n, m; std::cin >> n >> m; std::cout << n + m; }\n",
        ),
    },
    # Walks over at least one black edge: all, less those within what red edges connect.
    9: {
        "python": (
            """
import sys
data = list(map(int, sys.stdin.read().split()))
n, k = data[:2]
root = list(range(n + 1))
def find(x):
    while root[x] != x:
        root[x] = root[root[x]]
        x = root[x]
    return x
for u, v, black in zip(data[2::3], data[3::3], data[4::3]):
    if not black:
        root[find(u)] = find(v)
sizes = [0] * (n + 1)
for v in range(1, n + 1):
    sizes[find(v)] += 1
M = 10 ** 9 + 7
print((pow(n, k, M) - sum(pow(s, k, M) for s in sizes if s)) % M)
""",
            "n, k = map(int, input().split())\nprint(pow(n, k, 10 ** 9 + 7))\n",
        ),
        "cpp": (
            """
#include <iostream>
#include <numeric>
#include <vector>
const long long M = 1000000007;
std::vector<int> root;
int find(int x) { return root[x] == x ? x : root[x] = find(root[x]); }
long long power(long long base, int k) {
    long long p = 1;
    while (k--) p = p * base % M;
    return p;
}
int main() {
    int n, k, u, v, black;
    std::cin >> n >> k;
    root.resize(n + 1);
    std::iota(root.begin(), root.end(), 0);
    while (std::cin >> u >> v >> black)
        if (!black) root[find(u)] = find(v);
    std::vector<int> size(n + 1);
    for (int i = 1; i <= n; i++) size[find(i)]++;
    long long good = power(n, k);
    for (int i = 1; i <= n; i++) good = (good + M - power(size[i], k)) % M;
    std::cout << good;
}
""",
            "#include <iostream>\nint main() { std::cout << 0; }\n",
        ),
    },
}

# Expected number of parts of a tree: vertices that stay, less edges of which both ends stay. Judged with a tolerance.
KINGDOMS = """
import sys
data = iter(sys.stdin.read().split())
n = int(next(data))
fall = [float(next(data)) for _ in range(n)]
near = [[] for _ in range(n)]
for _ in range(n - 1):
    a, b = int(next(data)), int(next(data))
    near[a].append(b)
    near[b].append(a)
for _ in range(int(next(data))):
    v, p = int(next(data)), float(next(data))
    fall[v] = p
    total = sum(1 - f for f in fall)
    for a in range(n):
        total -= sum((1 - fall[a]) * (1 - fall[b]) for b in near[a] if b > a)
    print("%.7f" % (total + OFFSET))
"""


def problems():
    rows = {}
    for line in shared("data/sandboxfusion/code_contests.jsonl").read_text().splitlines():
        row = json.loads(line)
        row["tests"] = json.loads(row["test"]) if isinstance(row["test"], str) else row["test"]
        rows[row["id"]] = row
    return rows


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_contest_problems(assay, language):
    """Right solutions pass all tests of a problem; wrong ones fail some, and the record says which."""
    rows = problems()
    completions = [
        {"id": id, "completion": f"Like this:\n```{language}\n{code}\n```\n"}
        for id, solutions in SOLUTIONS.items()
        for code in solutions[language]
    ]
    result, lines = assay.eval(
        shared("data/sandboxfusion/code_contests.jsonl"), write_lines(assay.path("c.jsonl"), completions),
        "--language", language, timeout=550,
    )
    assert result.rc == 0 and len(lines) == 2 * len(SOLUTIONS), result
    for line in lines:
        count = len(rows[line["id"]]["tests"])
        assert len(line["tests"]) == count
        wanted = "accepted" if line["sample"] == 0 else "wrong_answer"
        assert line["outcome"] == wanted, (line["id"], line["sample"], line["outcome"], line["detail"])
        passed = sum(test["outcome"] == "accepted" for test in line["tests"])
        assert (passed == count) == (line["sample"] == 0)


def test_tolerance(assay):
    """Within the tolerance is right, without is wrong, and by tokens neither spelling would do."""
    dataset = shared("data/sandboxfusion/code_contests.jsonl")
    codes = [KINGDOMS.replace("OFFSET", offset) for offset in ("0.0", "0.00001", "-0.01")]
    completions = write_lines(assay.path("c.jsonl"), [{"id": 5, "completion": f"```python\n{c}\n```"} for c in codes])
    result, lines = assay.eval(
        dataset, completions, "--language", "python", "--set", "compare=float", "--set", "absolute_tolerance=1e-4",
        "--set", "relative_tolerance=1e-4",
    )
    assert result.rc == 0, result
    outcomes = {line["sample"]: line["outcome"] for line in lines}
    assert outcomes == {0: "accepted", 1: "accepted", 2: "wrong_answer"}, [line["detail"] for line in lines]
    _, lines = assay.eval(dataset, completions, "--language", "python")
    assert {line["outcome"] for line in lines} == {"wrong_answer"}


def own_problem(assay, pairs):
    tests = [{"input": {"stdin": given}, "output": {"stdout": wanted}} for given, wanted in pairs]
    return write_lines(assay.path("d.jsonl"), [{"id": "own", "content": "", "test": json.dumps(tests)}])


COUNTED = """
assay: 1
kind: language
name: counted
version: 1.0.0
summary: C, with a mark for each build
source: main.c
build: {argv: [sh, -c, "echo built >>COUNTER; exec gcc -o main main.c"]}
run: {argv: [./main]}
"""


def test_one_build_however_many_tests(assay):
    """N tests that compile N times, and then the time of the compiler counted as that of the program."""
    counter = assay.path("counter")
    folder = assay.folder / "plugins/languages/counted"
    folder.mkdir(parents=True)
    (folder / "plugin.yaml").write_text(COUNTED.replace("COUNTER", str(counter)))
    dataset = own_problem(assay, [(str(i), str(2 * i)) for i in range(80)])
    code = '#include <stdio.h>\nint main(void) { int n; if (scanf("%d", &n) == 1) printf("%d\\n", 2 * n); }\n'
    completions = write_lines(
        assay.path("c.jsonl"), [{"id": "own", "completion": code + f"// {i}\n"} for i in range(3)]
    )
    result, lines = assay.eval(
        dataset, completions, "--plugin-path", assay.folder / "plugins", "--language", "counted", "--set",
        "extract=none", "--jobs", "4",
    )
    assert result.rc == 0 and [line["outcome"] for line in lines] == ["accepted"] * 3, (result, lines)
    assert counter.read_text() == "built\n" * 3


def test_a_build_that_fails_is_a_compile_error(assay):
    """And no test is run."""
    dataset = own_problem(assay, [("1", "1"), ("2", "2")])
    completions = write_lines(assay.path("c.jsonl"), [{"id": "own", "completion": "```cpp\nint main( {\n```"}])
    result, lines = assay.eval(dataset, completions, "--language", "cpp")
    assert result.rc == 0 and lines[0]["outcome"] == "compile_error", (result, lines)
    assert all(not test.get("record") or not test["record"]["run"] for test in lines[0]["tests"])


@pytest.mark.parametrize(
    "printed,expected,accepted",
    [
        ("1 2 \n\n", "1 2", True), ("1 2\r\n", "1 2\n", True), ("ab", "a b", False), ("a b", "ab", False),
        ("5", "5 1 0", False), ("5 1 0", "5", False), ("NO\nYES\nYES", "YES\nNO\nYES", False), ("yes", "YES", False),
        ("1_000", "1000", False), ("", "1", False), ("nan", "nan", True), ("0x10", "16", False), ("", "", True),
    ],
)
def test_comparison_by_tokens(assay, printed, expected, accepted):
    """Comparisons that are too kind or too strict."""
    dataset = own_problem(assay, [("", expected)])
    completions = write_lines(
        assay.path("c.jsonl"), [{"id": "own", "completion": f"import sys; sys.stdout.write({printed!r})"}]
    )
    result, lines = assay.eval(dataset, completions, "--language", "python", "--set", "extract=none")
    assert result.rc == 0 and lines[0]["accepted"] == accepted, (result, lines)


def test_expected_outputs_do_not_enter_the_box(assay):
    """A candidate that reads the answers: its folder, its environment, its descriptors, and its parent's arguments."""
    dataset = own_problem(assay, [("question", "canary-of-the-answer")])
    code = """
import os, glob
seen = []
for top in (".", "..", os.environ["HOME"], os.environ["TMPDIR"]):
    for place, _, names in os.walk(top):
        for name in names:
            try:
                seen.append(open(os.path.join(place, name), "rb").read())
            except OSError:
                pass
for path in glob.glob("/proc/self/*") + glob.glob(f"/proc/{os.getppid()}/cmdline") + glob.glob("/proc/self/fd/*"):
    if os.path.basename(path) in ("environ", "cmdline", "3", "4", "5"):
        try:
            seen.append(open(path, "rb").read())
        except OSError:
            pass
needle = b"canary-of-" + b"the-answer"
print("canary-of-" + "the-answer" if any(needle in data for data in seen) else "nothing")
"""
    completions = write_lines(assay.path("c.jsonl"), [{"id": "own", "completion": code}])
    result, lines = assay.eval(dataset, completions, "--language", "python", "--set", "extract=none")
    assert result.rc == 0 and lines[0]["outcome"] == "wrong_answer", (result, lines)
    assert lines[0]["tests"][0]["record"]["run"]["stdout"] == "nothing\n"


def test_marks_of_success_are_not_believed(assay):
    """Output or exit codes that look like a verdict."""
    dataset = own_problem(assay, [("", "42")])
    codes = ["print(1)", "print('accepted')", "exit(0)", "import os; os._exit(0)", "print('{\"accepted\": true}')"]
    completions = write_lines(assay.path("c.jsonl"), [{"id": "own", "completion": code} for code in codes])
    result, lines = assay.eval(dataset, completions, "--language", "python", "--set", "extract=none")
    assert result.rc == 0 and {line["outcome"] for line in lines} == {"wrong_answer"}, (result, lines)
