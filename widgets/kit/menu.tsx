import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface MenuProps {
  readonly label: ComponentChildren;
  /** The name for screen readers, if the label is a symbol. */
  readonly name?: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A button that opens a panel below it. It uses the browser's popover, which `Escape` and an outside click close. */
export function Menu({ label, name, class: style = '', children }: MenuProps) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const { current } = panel;
    const place = (event: Event): void => {
      const isOpen = (event as ToggleEvent).newState === 'open';
      button.current?.setAttribute('aria-expanded', String(isOpen));
      if (isOpen && current && button.current) placeBelow(current, button.current);
    };
    const leave = (): void => current?.hidePopover();
    current?.addEventListener('toggle', place);
    window.addEventListener('resize', leave);
    return () => {
      current?.removeEventListener('toggle', place);
      window.removeEventListener('resize', leave);
    };
  }, []);
  return (
    <>
      <button
        type="button"
        ref={button}
        class={style}
        popovertarget={id}
        aria-expanded="false"
        aria-label={name}
      >
        {label}
      </button>
      <div
        id={id}
        ref={panel}
        popover="auto"
        class="menu"
        onClick={({ target }) => {
          if (target instanceof Element && target.closest('a, button') !== null) panel.current?.hidePopover();
        }}
      >
        {children}
      </div>
    </>
  );
}

function placeBelow(panel: HTMLElement, button: HTMLElement): void {
  const { bottom, left } = button.getBoundingClientRect();
  const most = document.documentElement.clientWidth - panel.offsetWidth - 8;
  panel.style.top = `${bottom + 4}px`;
  panel.style.left = `${Math.max(8, Math.min(left, most))}px`;
}
