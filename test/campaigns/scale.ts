/** How large a campaign is: small by default, and whole with `SVC_CAMPAIGN=whole` (`npm run campaigns`). */
export const WHOLE = process.env['SVC_CAMPAIGN'] === 'whole'
/** A small run is the same each time, so that what passes here passes there; a whole one differs, and `SVC_CAMPAIGN_SEED` makes it again. */
export const SEED = Number(process.env['SVC_CAMPAIGN_SEED'] ?? (WHOLE ? Date.now() % 1_000_000 : 1))

/** `SVC_CAMPAIGN_TIMES`, or what is given for a small or a whole run. */
export function times(small: number, whole: number): number {
  return Number(process.env['SVC_CAMPAIGN_TIMES'] ?? (WHOLE ? whole : small))
}

/** Everything, or about `many` of it from all over the list, others with each seed. */
export function sample<Item>(items: readonly Item[], many: number): readonly Item[] {
  const step = WHOLE ? 1 : Math.max(1, Math.floor(items.length / many))
  return items.filter((_, index) => index % step === SEED % step)
}
