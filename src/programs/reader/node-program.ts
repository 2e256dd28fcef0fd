/**
 * The reader: a program that is given one page and answers what a model gets of it, as a line of JSON. A process of its own, because the
 * libraries take seconds for pages that are made for it, and no memory of the server is theirs.
 */
import { PageRequest } from '../../protocol/web/page.js'
import { readPage } from './page.js'

const pieces: string[] = []
process.stdin.setEncoding('utf8')
process.stdin.on('data', (piece: string) => pieces.push(piece))
process.stdin.on('end', () => {
  const input = pieces.join('')
  const line = input.indexOf('\n')
  const request = PageRequest.parse(JSON.parse(input.slice(0, line)))
  process.stdout.write(JSON.stringify(readPage(request, input.slice(line + 1))))
})
