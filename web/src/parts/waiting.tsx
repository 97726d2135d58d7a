// Says that an answer is on its way.

export function Waiting() {
  return (
    <p class="soft waiting" role="status">
      Asking …
    </p>
  )
}
