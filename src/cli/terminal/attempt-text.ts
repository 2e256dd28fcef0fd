/** `attempt 2 of 4`: the one that comes after `attempt`, which failed; of how many where that is told. */
export function attemptText({
  attempt,
  attempts,
}: {
  readonly attempt?: number | undefined
  readonly attempts?: number | undefined
}): string {
  return `attempt ${(attempt ?? 1) + 1}${attempts === undefined ? '' : ` of ${attempts}`}`
}
