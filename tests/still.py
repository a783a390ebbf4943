"""Stands for a server that has nothing to do."""


class StillServer:
    url = "data:text/html,"

    def settle(self):
        pass

    def open_requests(self, _tag):
        return 0
