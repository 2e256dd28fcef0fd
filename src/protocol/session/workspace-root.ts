import type { Session } from './session.js'

/** The workspace root of a session: its directory without its path. */
export function workspaceRootOf({ directory, path = '' }: Pick<Session, 'directory' | 'path'>): string {
  return path !== '' && directory.endsWith(`/${path}`) ? directory.slice(0, -path.length - 1) || '/' : directory
}
