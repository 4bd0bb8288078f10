import type { PageUser } from '../../support/pages/page-user.js';

export function focused({ page }: PageUser): Promise<string> {
  return page.evaluate<string>(`(() => {
    const { activeElement: here } = document;
    return here.labels?.[0]?.textContent ?? here.getAttribute('aria-label') ?? here.textContent;
  })()`);
}

export async function tabTo(user: PageUser, name: string | RegExp): Promise<void> {
  const seen: string[] = [];
  for (let n = 0; n < 60; n += 1) {
    const text = (await focused(user)).trim();
    if (typeof name === 'string' ? text === name : name.test(text)) return;
    seen.push(text.slice(0, 30));
    await user.page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${String(name)}: ${seen.join(' | ')}`);
}
