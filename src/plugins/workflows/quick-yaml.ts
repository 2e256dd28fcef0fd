/**
 * Frontmatter by the quicker one of two parsers: ten thousand files are read at a first start. It knows no lines of fields, so
 * what is wrong, or might mean something else to the other one, is left to that.
 */
import { CORE_SCHEMA, load } from 'js-yaml'

/**
 * Anchors and tags, keys that are no text, and numbers that YAML 1.2 does not have: `1_000`, `0b1`, `-0x1f`. What stands in
 * quotation marks may match, too; that costs time only.
 */
const FOREIGN = /[&!]|(?:^|[[{,])\s*(?:[?~]|null)|(?:^|[\s[{,:])(?:[-+]?[\d.][\d.]*_|[-+]?0b|[-+]0[ox])/im

/** The value of a text as YAML 1.2 of the core schema; undefined when it is not known to be that. */
export function readQuickly(text: string): unknown {
  if (FOREIGN.test(text)) return undefined
  let isDoubtful = false
  try {
    const value = load(text, { schema: CORE_SCHEMA, onWarning: () => (isDoubtful = true) })
    return isDoubtful || typeof value !== 'object' || value === null || Array.isArray(value) ? undefined : value
  } catch {
    return undefined
  }
}
