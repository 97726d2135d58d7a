// Ponder does not start without an API of its own; nothing is asked of this one.
import { Hono } from 'hono'

export default new Hono()
