import type { ServerResponse } from 'node:http'
import { LIMITS } from '../../protocol/limits.js'

/** Cuts the connection of a client that does not read what it is sent for as long as a body may take. */
export function cutWhenUnread(raw: ServerResponse): void {
  raw.setTimeout(LIMITS.http.bodyTimeout, () => raw.destroy())
}
