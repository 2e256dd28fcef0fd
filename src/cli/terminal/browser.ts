/** The browser of the person. */
import { spawn } from 'node:child_process'

/** Without a shell, and only what a browser is for; the address is printed anyway. */
export function openBrowser(url: string): void {
  if (!/^https?:\/\//.test(url)) return
  const program = process.platform === 'darwin' ? 'open' : 'xdg-open'
  const child = spawn(program, [url], { stdio: 'ignore', detached: true })
  child.on('error', () => undefined)
  child.unref()
}
