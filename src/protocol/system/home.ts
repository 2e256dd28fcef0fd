/** What a person sees who opens the address of a server in a browser. It holds nothing of the installation, so nobody is asked; it is no part of the API. */
import { defineRoute } from '../route.js'

export const homePage = defineRoute({
  id: 'home.page',
  method: 'GET',
  path: '/',
  tag: 'system',
  access: { class: 'open' },
  summary: 'What this is, for a person with a browser.',
  success: { status: 200, description: 'A page.', mediaType: 'text/html; charset=utf-8' },
})
