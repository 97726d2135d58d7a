// TEMP
import { type Answer, jsonAnswer } from './answer.ts'
export function openApiDocument(_: unknown): Answer {
  return jsonAnswer({})
}
