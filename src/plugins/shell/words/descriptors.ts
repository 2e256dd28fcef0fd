/**
 * Descriptors under the names of files. Opening `/dev/fd/N` for writing writes to the file N was opened with,
 * even where that was for reading; and what `/proc` shows differs from process to process.
 *
 * I1 Standard output and error are what svc gave the line, unless something on the line turns them into
 *    something else than a file it may write.
 */
import { addReason, type Findings } from './findings.js'
import type { ShellNode } from '../parse/syntax.js'

const OUTPUT = /^\/dev\/(?:stdout|stderr|fd\/[12])$/
const INPUT = /^\/dev\/(?:stdin|fd\/\d+)$/
const PROCESS = /\/proc\/(?:self|thread-self|\d+)(?:\/task\/\d+)?\/(?:fd|fdinfo|root|cwd|exe|map_files|mem|ns)(?:\/|$)|^\/dev\/fd(?:\/|$)/

/** Judges a path that names a descriptor; true when nothing else is to be judged of it. */
export function touchesDescriptor(findings: Findings, path: string, write: boolean): boolean {
  if (OUTPUT.test(path) || (!write && INPUT.test(path))) {
    if (write) findings.namesOutput = true
    return true
  }
  if (!PROCESS.test(path) && !INPUT.test(path)) return false
  addReason(findings, `what ${path} leads to is only known when it runs`)
  return true
}

/** Notes a redirection that makes standard output or error something that was not opened for writing by the line. */
export function noteRedirect(findings: Findings, node: ShellNode, operator: string): void {
  const descriptor = node.children.find((child) => child.type === 'file_descriptor')?.text
  const target = node.children.findLast((child) => child.named && child.type !== 'file_descriptor')?.text ?? ''
  const output = descriptor === undefined ? operator.startsWith('>') || operator.startsWith('&') : /^[12]$/.test(descriptor)
  if (descriptor?.startsWith('{') === true) addReason(findings, 'a redirection that sets a variable')
  const copies = operator === '>&' || operator === '<&'
  if (output && (operator.startsWith('<') || (copies && !/^[12]$/.test(target)))) findings.turnsOutput = true
}

/** The reason both together give. */
export function checkDescriptors(findings: Findings): void {
  if (findings.namesOutput && findings.turnsOutput) addReason(findings, 'it writes to a descriptor by name after opening it in another way')
}
