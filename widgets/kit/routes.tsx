import { Route, Router } from 'preact-iso';
import type { ComponentChildren, ComponentType } from 'preact';
import { Heading, type NavGroup } from './frame.js';
import { ResourceList, ResourcePage } from './resource-pages.js';
import type { Resource } from './resource.js';

interface NavSection {
  readonly title: string;
  /** The names of resources. */
  readonly names: readonly string[];
}

/** The navigation: open problems first, then the resources by section. */
export function groupsOf(sections: readonly NavSection[], resources: readonly Resource[]): NavGroup[] {
  const groups = sections.map(({ title, names }) => ({
    title,
    items: resources
      .filter(({ name }) => names.includes(name))
      .map(({ name, title, scope }) => ({ href: `/${name}`, label: title, scope })),
  }));
  return [{ title: '', items: [{ href: '/', label: 'Attention' }] }, ...groups];
}

interface RouteProps {
  readonly name?: string;
  readonly id?: string;
}

/** The routes of an app: the pages of `own`, the lists and details of the resources, and `hint` for unknown paths. */
export function pagesOf(
  own: Readonly<Record<string, ComponentType>>,
  resources: readonly Resource[],
  hint: ComponentChildren,
): ComponentType {
  function Missing() {
    return (
      <>
        <Heading title="Not found">There is no such page</Heading>
        <p class="lead">{hint}</p>
      </>
    );
  }
  function ListRoute({ name }: RouteProps) {
    const resource = resources.find((each) => each.name === name);
    return resource === undefined ? <Missing /> : <ResourceList key={name} resource={resource} />;
  }
  function PageRoute({ name, id }: RouteProps) {
    const resource = resources.find((each) => each.name === name && each.details !== undefined);
    if (resource === undefined || id === undefined) return <Missing />;
    return <ResourcePage key={`${name}/${id}`} resource={resource} id={id} />;
  }
  return function Pages() {
    return (
      <Router>
        {Object.entries(own).map(([path, component]) => (
          <Route key={path} path={path} component={component} />
        ))}
        <Route path="/:name" component={ListRoute} />
        <Route path="/:name/:id" component={PageRoute} />
        <Route default component={Missing} />
      </Router>
    );
  };
}
