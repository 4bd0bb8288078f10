import { QueryClientProvider } from '@tanstack/react-query';
import { LocationProvider } from 'preact-iso';
import { render, type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { unusedMs } from './activity.js';
import { newQueries } from './data.js';
import type { Toast } from './frame.js';

const queries = newQueries();

/** Starts a page with the facts embedded in its document. */
export function start<Facts>(App: ComponentType<{ facts: Facts }>): void {
  const facts = JSON.parse(document.querySelector('main')!.dataset['facts']!) as Facts;
  // The router throws on a path that is not UTF-8.
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

/** A toast. It disappears after eight seconds or when its link is followed. */
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

/** The interval of session checks on a page that has been idle longer than the session's lifetime. */
const RECHECK_MS = 30_000;
/**
 * The interval of requests that keep the session of an active page alive. Reading and typing send no request
 * themselves.
 */
const KEEP_MS = 60_000;
const TICK_MS = 5_000;

/**
 * Verifies the session of a page that was idle for `ms`. All tabs share the session: while the server confirms it,
 * another tab is in use and this one waits. An active page extends its session. `verify` reads the session and leaves
 * the page after a 401.
 */
export function useIdleEnd(ms: number, verify: () => unknown): void {
  useEffect(() => {
    let verified = Date.now();
    const timer = setInterval(() => {
      const [unused, ago] = [unusedMs(), Date.now() - verified];
      if (unused > ms ? ago < RECHECK_MS : ago < KEEP_MS || unused > ago) return;
      verified = Date.now();
      verify();
    }, TICK_MS);
    return () => clearInterval(timer);
  }, [ms]);
}
