import { breakMarks, RUNTIME_MARK } from '../../../protocol/text/runtime-marks.js'

/** Marks what the runtime itself says to a model; no client may put it into `system` (sessions-events §4.1, §4.20). */
export const RUNTIME_MARKER = `<${RUNTIME_MARK}>`
const CLOSE = `</${RUNTIME_MARK}>`

/** The text between its marks; marks in the text itself are broken up, so that it cannot end early. */
export function noticeText(text: string): string {
  return `${RUNTIME_MARKER}\n${breakMarks(text)}\n${CLOSE}`
}
