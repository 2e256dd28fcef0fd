/** What a request to the broker is about: `/t/<tenant>/w/<workspace>/v2/…`. */
import type { WorkspaceKey } from '../records/machines.js'

export interface Target {
  readonly key: WorkspaceKey
  /** From `/v2` on, with the query, as it came. */
  readonly path: string
  /** It carries a ticket of a terminal instead of a credential. */
  readonly hasTicket: boolean
}

const SHAPE = /^\/t\/([A-Za-z0-9_.:-]{1,128})\/w\/([A-Za-z0-9_.:-]{1,128})(\/v2\/[^#]*)$/
const TICKETED = /^\/v2\/plugins\/[^?]+\/connect\?(?:[^#]*&)?ticket=[^&#]/

/** Undefined for what is none. A path that could be read in two ways is none. */
export function targetOf(url: string | undefined): Target | undefined {
  const [, tenant = '', workspace = '', path = ''] = SHAPE.exec(url ?? '') ?? []
  if (path === '' || /(?:^|\/)\.{1,2}(?:\/|$)|%2e|%2f|%5c|\\/i.test(path.split('?')[0] ?? '')) return undefined
  return { key: { tenant, workspace }, path, hasTicket: TICKETED.test(path) }
}
