/** `svc doctor`: what works on this machine and what does not. */
import type { DoctorOptions } from './doctor-page.js'
import { type Finding, renderFindings } from '../../findings.js'
import { inspectMachine } from './machine-checks.js'
import { inspectServer } from './server-checks.js'
import { jsonText, writeOut } from '../../terminal/output.js'

/** Prints the findings; answers the exit code: 1 when one of them is an error. */
export async function doctor(options: DoctorOptions): Promise<number> {
  const findings: Finding[] = [...(await inspectMachine()), ...(await inspectServer(options))]
  writeOut(options.json ? `${jsonText({ ok: isSound(findings), findings }, 2)}\n` : renderFindings(findings))
  return isSound(findings) ? 0 : 1
}

function isSound(findings: readonly Finding[]): boolean {
  return findings.every(({ level }) => level !== 'error')
}
