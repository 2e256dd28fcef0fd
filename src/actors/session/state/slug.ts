/** Two-word names for sessions; not unique (sessions-events §2.1). */

const ADJECTIVES =
  'amber brisk calm clever cosmic crisp daring eager fair gentle golden happy jolly keen lively lucid mellow merry nimble noble patient proud quick quiet rapid silver steady sunny swift witty'.split(
    ' ',
  )
const NOUNS =
  'anchor badger beacon brook canyon cedar comet coral delta ember falcon fern garden harbor heron island lantern maple meadow orchid otter pebble pine quartz raven river sparrow summit tiger willow'.split(
    ' ',
  )

/** A slug from two random bytes. */
export function slugOf(bytes: Uint8Array): string {
  const [first = 0, second = 0] = bytes
  return `${ADJECTIVES[first % ADJECTIVES.length]}-${NOUNS[second % NOUNS.length]}`
}
