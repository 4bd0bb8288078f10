import { useEffect, useState } from 'preact/hooks';
import { Dialog } from './dialog.js';

export const SHORTCUTS = [
  ['/', 'Search'],
  ['j', 'Next row'],
  ['k', 'Previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close a dialog or a menu'],
  ['?', 'These shortcuts'],
] as const;

/** Checks whether the focused element handles the key itself. */
function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.matches('input:not([type=checkbox]), textarea, select, dialog *')
  );
}

/** Returns null on pages without a search. */
function searchField(): HTMLInputElement | null {
  return document.querySelector('input[type=search]');
}

/** The keyboard shortcuts of every page. `?` displays them. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      if (event.key === '/') searchField()?.focus();
      else if (event.key === 'j') focusRow(1);
      else if (event.key === 'k') focusRow(-1);
      else if (event.key === '?') setOpen(true);
      else return;
      event.preventDefault();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  if (!isOpen) return null;
  const shortcuts = SHORTCUTS.filter(([key]) => key !== '/' || searchField() !== null);
  return (
    <Dialog title="Keyboard shortcuts" close={() => setOpen(false)}>
      <dl class="keys">
        {shortcuts.map(([key, what]) => (
          <div>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons">
        <button type="button" class="primary" onClick={() => setOpen(false)}>
          Close
        </button>
      </div>
    </Dialog>
  );
}

/** Moves the focus among the links that open the rows. */
function focusRow(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLElement>('a[data-row]')];
  const row = document.activeElement?.closest('tr')?.querySelector<HTMLElement>('a[data-row]');
  const here = row ? links.indexOf(row) : -1;
  const next = here === -1 ? (by === 1 ? 0 : links.length - 1) : here + by;
  const link = links[Math.max(0, Math.min(next, links.length - 1))];
  link?.focus();
  link?.scrollIntoView({ block: 'nearest' });
}
