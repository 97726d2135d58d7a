// Marks the section that is being read in the list of what is on this page, and shows the place of the page in the menu.
// Without it both are lists of links alone.

/** Into the middle of the list that it stands in, which moves by itself. */
function bringInto(link: HTMLElement): void {
  const list = link.closest<HTMLElement>('.menu, .here')!
  if (list.scrollHeight > list.clientHeight) list.scrollTop = link.offsetTop - list.clientHeight / 2
}

export function startHere(): void {
  const page = document.querySelector<HTMLElement>('.menu [aria-current]')
  if (page !== null) bringInto(page)
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.here a')]
  const headings = links.map(link => document.getElementById(decodeURIComponent(link.hash.slice(1)))!)
  if (links.length === 0) return
  const mark = () => {
    // Just below where a jump ends; at the end of the page, which has no room for that, what was jumped to, or the last.
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2
    const topOf = (heading: HTMLElement) => heading.getBoundingClientRect().top
    const jumpEnd = Number.parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop)
    const passed = headings.filter(heading => topOf(heading) < jumpEnd + 24).length
    const target = headings.findIndex(heading => heading.matches(':target') && topOf(heading) > 0)
    const end = target < 0 ? links.length - 1 : Math.max(target, passed - 1)
    const at = isAtEnd && scrollY > 0 ? end : Math.max(passed - 1, 0)
    for (const [place, link] of links.entries()) {
      if (place !== at) link.removeAttribute('aria-current')
      else if (link.ariaCurrent === null) {
        link.ariaCurrent = 'location'
        bringInto(link)
      }
    }
  }
  let isAsked = false
  const askToMark = () => {
    if (isAsked) return
    isAsked = true
    requestAnimationFrame(() => {
      isAsked = false
      mark()
    })
  }
  addEventListener('scroll', askToMark, { passive: true })
  addEventListener('resize', askToMark)
  addEventListener('hashchange', askToMark)
  mark()
}
