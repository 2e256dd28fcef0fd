/** Marks what the runtime itself says to a model; no client may put it into `system` (sessions-events §4.1, §4.20). */
export const RUNTIME_MARKER = '<svc-runtime-notification>'
const CLOSE = '</svc-runtime-notification>'

/** What the runtime says. */
export interface Notice {
  readonly text: string
  /** Nobody will answer what the run asks that it begins. */
  readonly unattended?: boolean
}

export function isNotice(system: string | undefined): boolean {
  return system?.startsWith(RUNTIME_MARKER) === true
}

/** The text between its marks; marks in the text itself are broken up, so that it cannot end early. */
export function noticeText(text: string): string {
  return `${RUNTIME_MARKER}\n${text.replaceAll(/<(\/?)svc-runtime-notification/gi, '<$1svc-runtime-notification\u200b')}\n${CLOSE}`
}
