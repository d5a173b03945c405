"""Reports for the tests of the HTML page: large ones and hostile ones, made from a real one."""

import copy
import json

# Everything that may be let loose by a page that trusts a field.
PAYLOADS = [
    "</script><script>window.__ran = 1</script>",
    "\"><img src=x onerror=\"window.__ran = 2\">",
    "' onmouseover='window.__ran = 3' autofocus onfocus='window.__ran = 3",
    "<svg onload=window.__ran=4>",
    "<!--<script>window.__ran = 5</script>-->",
    "javascript:window.__ran=6",
    "{{scripts}}{{data}}",
    "<link rel=stylesheet href=http://127.0.0.1:9/x.css><img src=http://127.0.0.1:9/x.png>",
    "</style><style>body{display:none}</style>",
    "<iframe srcdoc='<script>parent.__ran = 7</script>'></iframe>",
    "\x1b[31mred\x1b[0m \u202eturned\u202c \u2028\u2029 &lt;b&gt; &#60;b&#62; \\u003cscript\\u003e",
    "]]><base href=http://127.0.0.1:9/><meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'>",
]
# Fields whose values are words of the schema or that other fields refer to.
KEPT = {"schema_version", "status", "outcome", "expectation", "kind", "compute_capability", "end", "state", "method", "version"}


def hostile(report):
    """Every text a payload, every name of a map too."""
    count = 0

    def poisoned(value, key=""):
        nonlocal count
        if isinstance(value, dict):
            loose = key in ("parameters", "facts", "variables")
            return {(PAYLOADS[count % len(PAYLOADS)] + name if loose else name): poisoned(one, name)
                    for name, one in value.items()}
        if isinstance(value, list):
            return [poisoned(one, key) for one in value]
        if isinstance(value, str) and key not in KEPT:
            count += 1
            return f"{PAYLOADS[count % len(PAYLOADS)]} {count}"
        return value

    result = poisoned(report)
    # Findings must still lead to their cases.
    for before, after in zip(report["checks"], result["checks"]):
        after["id"] = "<b onclick=window.__ran=8>" + before["id"]
    for before, after in zip(report["findings"], result["findings"]):
        check = next(one for one in result["checks"] if one["id"].endswith(">" + before["check"]))
        after["check"] = check["id"]
    return result


def large(report, cases):
    """As many cases as asked for: copies of those of a real report, with texts of their own."""
    result = copy.deepcopy(report)
    have = sum(len(check["cases"]) for check in report["checks"])
    copies = -(-cases // have)
    left = cases
    for check, source in zip(result["checks"], report["checks"]):
        check["cases"] = []
        for number in range(copies):
            for case in source["cases"][:left]:
                other = dict(case)
                other["id"] = f"{case['id']}.copy{number}"
                other["rule"] = f"{case['rule']} [{number}]"
                if case["message"]:
                    other["message"] = f"{case['message']} [{number}]"
                check["cases"].append(other)
            left -= len(source["cases"][:left])
    return result


def write(report, path):
    path.write_text(json.dumps(report, separators=(",", ":")), encoding="utf-8")
    return path
