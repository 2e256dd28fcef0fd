/** A session as commands print it. The fields of the JSON stay. */
import type { Session } from '../../../protocol/session/session.js'

export interface SessionRecord {
  readonly id: string
  readonly title: string
  readonly directory: string
  /** `waiting`: for an answer to a permission request or a question. */
  readonly state: 'idle' | 'running' | 'waiting'
  /** Moments in ISO 8601. */
  readonly created: string
  readonly updated: string
  readonly parentId?: string
  readonly agent?: string
  /** `provider/model`. */
  readonly model?: string
}

export function sessionRecord(session: Session): SessionRecord {
  const { id, title, directory, time, parentId, agent, model } = session
  return {
    id,
    title,
    directory,
    state: stateOf(session),
    created: new Date(time.created).toISOString(),
    updated: new Date(time.updated).toISOString(),
    ...(parentId !== undefined && { parentId }),
    ...(agent !== undefined && { agent }),
    ...(model !== undefined && { model: `${model.providerId}/${model.id}` }),
  }
}

function stateOf({ catalogActivity = 'idle' }: Session): SessionRecord['state'] {
  if (catalogActivity === 'permission') return 'waiting'
  return catalogActivity === 'idle' ? 'idle' : 'running'
}

const TITLE = 60

/** A title in a line with other things. */
export function shortTitle(title: string): string {
  const characters = [...title]
  return characters.length <= TITLE ? title : `${characters.slice(0, TITLE - 1).join('')}…`
}

/** `2026-05-04 09:00`, in the zone of this machine. */
export function localTime(moment: string): string {
  const date = new Date(moment)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`
}
