// What is wrong with what was typed into a field, beside it. The field names it as its description by the id.

export function Refusal({ id, text }: { id: string; text: string | undefined }) {
  if (text === undefined) return null
  return (
    <strong class="refusal" id={id} role="alert">
      {text}
    </strong>
  )
}
