import { useLocation } from 'preact-iso';
import type { ComponentChildren } from 'preact';
import { useContext, useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { KitContext } from './data.js';
import { Shortcuts } from './keys.js';
import { Menu } from './menu.js';
import { Trouble } from './states.js';

export interface NavItem {
  readonly href: string;
  readonly label: string;
  /** Hidden from a person without this scope. */
  readonly scope?: string;
}
export interface NavGroup {
  readonly title: string;
  readonly items: NavItem[];
}

interface FrameProps {
  readonly brand: string;
  readonly nav: readonly NavGroup[];
  readonly can: (scope: string) => boolean;
  /** The badge next to the brand, such as the sandbox's. */
  readonly badge?: ComponentChildren;
  /** `placeholder`: examples of search terms. */
  readonly search?: { readonly placeholder: string };
  /** The menu of the person. */
  readonly person: { readonly name: string; readonly menu: ComponentChildren };
  readonly toast: Toast | null;
  /** A banner across the page, above everything else. */
  readonly banner?: string | null;
  readonly children: ComponentChildren;
}

export interface Toast {
  readonly text: string;
  readonly to?: string | undefined;
}

/** The frame of every page: search, navigation, person, passing messages. */
export function Frame({ brand, nav, can, badge, search, person, toast, banner, children }: FrameProps) {
  const { path } = useLocation();
  const groups = nav
    .map(({ title, items }) => ({
      title,
      items: items.filter(({ scope }) => scope === undefined || can(scope)),
    }))
    .filter(({ items }) => items.length > 0);
  return (
    <div class="frame">
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <header>
        <Menu label={<MenuSign />} name="Menu" class="bare only-narrow">
          <Nav groups={groups} />
        </Menu>
        <a class="brand" href="/">
          {brand}
        </a>
        {badge}
        {search !== undefined && <Search {...search} />}
        <Menu label={<PersonLabel name={person.name} />} name={`Account of ${person.name}`} class="bare">
          {person.menu}
        </Menu>
      </header>
      {banner && (
        <p class="banner" role="status">
          {banner}
        </p>
      )}
      <div class="columns">
        <div class="side">
          <Nav groups={groups} />
        </div>
        <main id="content" tabIndex={-1}>
          <Guarded key={path}>{children}</Guarded>
        </main>
      </div>
      <div class="toasts" role="status">
        {toast !== null && (
          <p class="toast">
            {toast.text} {toast.to !== undefined && <a href={toast.to}>Open</a>}
          </p>
        )}
      </div>
      <Shortcuts />
    </div>
  );
}

function Nav({ groups }: { groups: readonly NavGroup[] }) {
  const { path } = useLocation();
  return (
    <nav aria-label="Main">
      {groups.map(({ title, items }) => (
        <div class="nav-group">
          {title !== '' && <p class="nav-title">{title}</p>}
          {items.map(({ href, label }) => (
            <a href={href} aria-current={path === href || path.startsWith(`${href}/`) ? 'page' : undefined}>
              {label}
            </a>
          ))}
        </div>
      ))}
    </nav>
  );
}

function PersonLabel({ name }: { name: string }) {
  return (
    <>
      <span class="person">{name}</span>
      <svg class="only-phone" viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="5" r="3" />
        <path d="M2.5 14.5c0-3 2.5-4.5 5.5-4.5s5.5 1.5 5.5 4.5" />
      </svg>
    </>
  );
}

function MenuSign() {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d="M2 4h12M2 8h12M2 12h12" />
    </svg>
  );
}

function Search({ placeholder }: { placeholder: string }) {
  const { query, path, route } = useLocation();
  const searched = path === '/search' ? (query['q'] ?? '') : '';
  const [text, setText] = useState(searched);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setText(searched), [searched]);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    if (text.trim() === '') return;
    // The search result takes the focus, so that the page's keyboard shortcuts work again.
    field.current?.blur();
    route(`/search?q=${encodeURIComponent(text.trim())}`);
  };
  return (
    <form class="search" role="search" aria-label="Everything" onSubmit={submit}>
      <input
        ref={field}
        type="search"
        name="q"
        aria-label="Search"
        aria-keyshortcuts="/"
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </form>
  );
}

/** An error boundary: a failing page leaves the rest of the frame intact. */
function Guarded({ children }: { children: ComponentChildren }) {
  const [error, retry] = useErrorBoundary();
  return error === undefined ? <>{children}</> : <Trouble error={error} retry={retry} />;
}

let pages = 0;

/** The heading and title of a page. It takes the focus after navigation. */
export function Heading({ children, title }: { children: ComponentChildren; title: string }) {
  const heading = useRef<HTMLHeadingElement>(null);
  const brand = useContext(KitContext)?.brand;
  useEffect(() => {
    document.title = brand === undefined ? title : `${title} · ${brand}`;
    const isTyping = document.activeElement?.matches('input, select, textarea') ?? false;
    if (pages > 0 && !isTyping) heading.current?.focus({ preventScroll: true });
    pages += 1;
  }, []);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {children}
    </h1>
  );
}
