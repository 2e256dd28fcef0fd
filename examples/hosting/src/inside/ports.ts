/** On loopback of a machine, where nobody else is. */
export const AGENT_PORT = 4096
/** As whom a worker is addressed: its door looks at the name for what needs no credential. */
export const AGENT_HOST = `127.0.0.1:${AGENT_PORT}`
export const HOST_PORT = 4097
/** Of a machine that is reached by https. */
export const TLS_PORT = 8443
