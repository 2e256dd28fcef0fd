/** How much work a page would be, told without building it. Linear. */
export interface Measure {
  readonly tags: number
  /** Most tags that are open at once. */
  readonly depth: number
}

/** Tags that need no end. */
const OPEN = new Set(
  `area base br col embed hr img input link meta source track wbr p li td th tr dt dd option optgroup thead tbody tfoot colgroup body html head`.split(
    ' ',
  ),
)
const TAG = /<(\/?)([a-z][a-z0-9:-]{0,40})/gi

export function measure(html: string): Measure {
  let tags = 0
  let open = 0
  let depth = 0
  for (const [, end, name = ''] of html.matchAll(TAG)) {
    tags++
    if (OPEN.has(name.toLowerCase())) continue
    open = end === '/' ? Math.max(0, open - 1) : open + 1
    if (open > depth) depth = open
  }
  return { tags, depth }
}
