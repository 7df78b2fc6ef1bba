"""A page of ours, taken apart by the standard library's parser."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Collects the data, the text and every address of a page."""

    VOID = ("meta", "br", "link", "img", "input")

    def __init__(self, text):
        super().__init__()
        self.stack, self.data, self.text, self.addresses, self.cells, self.scripts = [], "", "", [], [], 0
        self.feed(text)
        assert self.stack == [], "unclosed elements"

    def handle_starttag(self, tag, attributes):
        if tag not in self.VOID:
            self.stack.append((tag, dict(attributes)))
        self.scripts += tag == "script"
        self.addresses += [v for k, v in attributes if k in ("src", "href", "action", "data")]

    def handle_endtag(self, tag):
        assert self.stack.pop()[0] == tag

    def handle_data(self, data):
        tag, attributes = self.stack[-1] if self.stack else ("", {})
        if attributes.get("id") == "data":
            self.data += data
        elif tag not in ("script", "style"):
            self.text += data
            if tag in ("td", "th") and data.strip():
                self.cells.append(data.strip())
