import type { PermissionRequest } from './interaction.js'

/** Patterns wider than what is asked, which an answer of `always` may name in its `alwaysPatterns`. */
export function widerPatterns({ metadata }: Pick<PermissionRequest, 'metadata'>): readonly string[] {
  if (typeof metadata !== 'object' || metadata === null || !('alwaysPatterns' in metadata)) return []
  const { alwaysPatterns } = metadata
  return Array.isArray(alwaysPatterns) ? alwaysPatterns.filter((pattern) => typeof pattern === 'string') : []
}
