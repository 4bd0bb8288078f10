import { QueryClientProvider } from '@tanstack/react-query';
import { LocationProvider } from 'preact-iso';
import { render, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { newQueries } from './data.js';
import type { Toast } from './frame.js';

const queries = newQueries();

/** Starts a page with the facts of its document. */
export function start<Facts>(App: ComponentType<{ facts: Facts }>): void {
  const facts = JSON.parse(document.querySelector('main')!.dataset['facts']!) as Facts;
  // A path that is no UTF-8 would fail in the router.
  if (!isDecodable(location.pathname)) history.replaceState(null, '', '/');
  document.body.replaceChildren();
  render(
    <Providers>
      <App facts={facts} />
    </Providers>,
    document.body,
  );
}

function isDecodable(path: string): boolean {
  try {
    return decodeURIComponent(path) !== '';
  } catch {
    return false;
  }
}

function Providers({ children }: { children: ComponentChildren }) {
  return (
    <LocationProvider>
      <QueryClientProvider client={queries}>{children}</QueryClientProvider>
    </LocationProvider>
  );
}

/** Something said in passing, for eight seconds or until its link is followed. */
export function useToast(): [Toast | null, (text: string, to?: string) => void] {
  const [toast, setToast] = useState<Toast | null>(null);
  useEffect(() => {
    if (toast === null) return;
    const timer = setTimeout(() => setToast(null), 8_000);
    const follow = ({ target }: MouseEvent): void => {
      if (target instanceof Element && target.closest('.toast a') !== null) setToast(null);
    };
    document.addEventListener('click', follow);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('click', follow);
    };
  }, [toast]);
  return [toast, (text, to) => setToast({ text, to })];
}

/** Calls `leave` when the page was not used for this long. */
export function useIdle(ms: number, leave: () => void, enabled: boolean): void {
  useEffect(() => {
    if (!enabled) return;
    let last = Date.now();
    const touch = (): void => void (last = Date.now());
    const events = ['pointerdown', 'keydown', 'wheel', 'touchstart'] as const;
    for (const name of events) document.addEventListener(name, touch, { passive: true });
    const timer = setInterval(() => {
      if (Date.now() - last > ms) leave();
    }, 5_000);
    return () => {
      clearInterval(timer);
      for (const name of events) document.removeEventListener(name, touch);
    };
  }, [enabled, ms]);
}
