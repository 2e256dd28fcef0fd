/** The sessions of one conversation: its own, and those it has delegated to, each below the one that delegated. Pure. */
import type { Session } from '../../../protocol/session/session.js'
import { printable } from '../../../protocol/text/visible-text.js'
import { type Line, type Span, span } from '../../terminal/span.js'

export interface Family {
  readonly root: string
  readonly members: ReadonlyMap<string, { readonly depth: number; readonly agent: string }>
}

export function familyOf(root: string): Family {
  return { root, members: new Map([[root, { depth: 0, agent: '' }]]) }
}

export function withMember(family: Family, { id, parentId, agent, title }: Session): Family {
  const parent = parentId === undefined ? undefined : family.members.get(parentId)
  if (parent === undefined || family.members.has(id)) return family
  const members = new Map([...family.members, [id, { depth: parent.depth + 1, agent: printable(agent ?? title) }]])
  return { ...family, members }
}

/** Undefined for a session of another family. */
export function depthOf(family: Family, sessionId: string): number | undefined {
  return family.members.get(sessionId)?.depth
}

/** A line of somebody below, with a bar for each session between. */
export function nested(line: Line, depth: number): Line {
  return depth === 0 ? line : [bars(depth), ...line]
}

function bars(depth: number): Span {
  return span('│ '.repeat(depth), 'dim')
}
