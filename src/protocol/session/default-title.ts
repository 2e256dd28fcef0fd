/** Titles of sessions that nobody has named yet: these, and the moment. */
export const DEFAULT_TITLES = ['New session - ', 'Child session - '] as const

export function hasDefaultTitle(title: string): boolean {
  return DEFAULT_TITLES.some((prefix) => title.startsWith(prefix))
}
