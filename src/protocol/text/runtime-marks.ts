/** Marks by which models know what the runtime itself says (sessions-events §4.20). Pure. */

/** Names of the marks, as `<name>` and `</name>`. */
export const RUNTIME_MARK = 'svc-runtime-notification'

/** What the runtime itself has said, which no client can (sessions-events §4.1). `system`: of its message. */
export function isNotice(system: string | undefined): boolean {
  return system?.startsWith(`<${RUNTIME_MARK}>`) === true
}

const MARKS = new RegExp(`<(\\/?)(${RUNTIME_MARK}|system-reminder)`, 'gi')

/** The text with such marks broken up, so that it neither passes for what the runtime says nor ends that early. */
export function breakMarks(text: string): string {
  return text.replaceAll(MARKS, '<$1$2\u200b')
}
