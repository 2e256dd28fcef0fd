/**
 * Whether `git config` changes its file. What reads is listed, everything else changes: an option that is not known may take the
 * next word as its value, so that a word after it is no action.
 */
import type { Word } from '../../words/word.js'

/** They say that it reads, whatever else stands there. */
const READS = new Set(['--get', '--get-all', '--get-regexp', '--get-urlmatch', '--get-color', '--get-colorbool', '--list', '-l'])
const FLAGS = new Set(
  '--global --system --local --worktree -z --null --name-only --show-origin --show-scope --includes --no-includes --bool --int --path --all --show-names'.split(
    ' ',
  ),
)
/** A value follows, in the same word or in the next one. */
const VALUED = /^(?:-f|--file|--blob|--type|--default)$/

export function changesConfig(args: readonly Word[]): boolean {
  let reads = false
  const operands: Word[] = []
  for (let at = 0; at < args.length; at += 1) {
    const text = args[at]?.text ?? ''
    const [name = ''] = text.split('=', 1)
    if (args[at]?.dynamic === true) return true
    if (!text.startsWith('-')) operands.push(...args.slice(at, at + 1))
    else if (VALUED.test(name)) at += name === text ? 1 : 0
    else if (READS.has(text)) reads = true
    else if (!FLAGS.has(text)) return true
  }
  const [verb, ...others] = operands.map(({ text }) => text)
  if (reads) return false
  return verb === 'get' || verb === 'list' ? others.length > 1 || !isAction(verb, others) : operands.length !== 1
}

/** `git config list` and `get NAME`, as newer versions have them; a setting has a dot in its name. */
function isAction(verb: string, others: readonly string[]): boolean {
  return verb === 'list' ? others.length === 0 : others.length === 1
}
