/** Names of files that are written beside the one they replace (threat-model F3). A kill or a loss of power leaves them behind. */

/** `chance`: 16 hexadecimal digits. */
export function temporaryName(chance: string): string {
  return `.svc-${chance}.tmp`
}

export function isTemporaryName(name: string): boolean {
  return /^\.svc-[0-9a-f]{16}\.tmp$/.test(name)
}
