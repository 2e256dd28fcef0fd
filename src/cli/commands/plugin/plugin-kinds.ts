/** What a new package can be made with: `svc plugin init --with`. */
export const KINDS = ['tool', 'hook', 'event', 'command', 'agent', 'context', 'route', 'socket', 'provider'] as const
export type Kind = (typeof KINDS)[number]
