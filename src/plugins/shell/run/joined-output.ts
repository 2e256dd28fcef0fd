/** What a command has printed, as one text. */
import type { ProcessResult } from '../../../ports/effects.js'
import { displayText, TITLE_LENGTH } from '../parse/display.js'

/** Standard output, a newline, standard error; the cut of a full capture is said, and what it has left running. */
export function joinOutput(
  { stdout, stderr, captureTruncated, left }: Pick<ProcessResult, 'stdout' | 'stderr' | 'captureTruncated' | 'left'>,
  captureBytes: number,
): string {
  const cut = captureTruncated ? `\n(More than ${captureBytes} bytes were printed; the rest was dropped.)` : ''
  return (joinStreams(stdout, stderr) || '(no output)') + cut + leftBehind(left)
}

export function joinStreams(stdout: string, stderr: string): string {
  return [stdout.trimEnd(), stderr.trimEnd()].filter((part) => part !== '').join('\n')
}

export function leftBehind(left: ProcessResult['left']): string {
  return left.map(({ command }) => `\n(Still running, out of reach of this server: ${displayText(command, TITLE_LENGTH)})`).join('')
}
