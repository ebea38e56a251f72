"""Launches with arrays in host memory, which are copied to the card, and results copied back."""


class HostedLaunch:
    """One launch of a plan. `hosts` says which of the addresses are in host memory.

    The card's lock is held, and its context is current.
    """

    def __init__(self, plan, addresses, hosts, stream):
        self.plan, self.hosts, self.stream = plan, hosts, stream
        self.host_addresses, self.addresses = addresses, list(addresses)

    def run(self):
        """Launches, and returns when the results are on the host."""
        device, count = self.plan.device, self.plan.info.num_arguments
        allocated = []
        try:
            for i, is_host in enumerate(self.hosts):
                if not is_host:
                    continue
                self.addresses[i] = device.allocate(self.plan.sizes[i])
                allocated.append(self.addresses[i])
                if i < count:
                    device.copy_in(self.addresses[i], self.host_addresses[i], self.plan.sizes[i], self.stream)
            self.plan.launch(tuple(self.addresses), self.stream)
            for i in range(count, len(self.hosts)):
                if self.hosts[i]:
                    device.copy_out(self.host_addresses[i], self.addresses[i], self.plan.sizes[i], self.stream)
            device.synchronize(self.stream)
        finally:
            # After an error nobody has waited for the kernels; freeing memory does.
            for address in allocated:
                device.free(address)
