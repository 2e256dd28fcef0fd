/** On loopback of a machine, where nobody else is. */
export const AGENT_PORT = 4096
export const HOST_PORT = 4097
