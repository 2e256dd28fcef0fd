/**
 * Glob patterns as search programs read them: without a slash a pattern is about names at any depth, with one it is
 * about the path from the search root; `*` and `?` stay within a name, `**` spans directories, `{a,b}` and `[a-z]` work.
 * Not the wildcards of permission rules (machines/wildcard.ts), whose stars span everything.
 */

/** The pattern from the root: anchored when it has a slash, else at any depth. */
export function normaliseGlob(glob: string): string {
  const bare = glob.replace(/^(\.\/)+/, '')
  const whole = bare.endsWith('/') ? `${bare}**` : bare
  if (whole.startsWith('/')) return whole.slice(1)
  return bare.replace(/\/$/, '').includes('/') ? whole : `**/${whole}`
}

/** Whether a search text asks for a glob rather than for similar names. */
export function isGlob(text: string): boolean {
  return /[*?[\]{}]/.test(text)
}

export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|#&~-]/g, '\\$&')
}
