/** Serves the chat and the client on loopback: node serve.mjs [port] */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

const FILES = {
  '/': [new URL('index.html', import.meta.url), 'text/html'],
  '/chat.mjs': [new URL('chat.mjs', import.meta.url), 'text/javascript'],
  '/client.js': [import.meta.resolve('svc/client'), 'text/javascript'],
}

async function answer(request, response) {
  const file = FILES[new URL(request.url, 'http://chat').pathname]
  if (file === undefined) return response.writeHead(404).end()
  const [url, type] = file
  try {
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store' }).end(await readFile(fileURLToPath(url)))
  } catch (error) {
    response.writeHead(500).end(error.message)
  }
}

const server = createServer((request, response) => void answer(request, response))

server.listen(Number(process.argv[2] ?? 8080), '127.0.0.1', () => {
  console.log(`chat on http://127.0.0.1:${server.address().port}`)
})
