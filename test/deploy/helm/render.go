// Renders a chart as Helm 3 does, for the suite of the chart: Go's text/template with sprig, and what Helm adds to them.
//
// Reads {"chart": folder, "cases": [{"name", "namespace", "files": [path...], "values": {...}, "service", "apis": [...]}]}
// and writes for each case {"values": merged, "texts": {file: text}, "objects": [...]} or {"error": text}. Of Helm it
// leaves out: subcharts, libraries, files but .Files.Get, and a cluster, so that lookup finds nothing.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type values = map[string]interface{}

type request struct {
	// In place of a chart: documents of which only the objects are written.
	Yaml  string
	Chart string
	Cases []struct {
		Name, Namespace, Service string
		Files                    []string
		Values                   values
		Apis                     apiVersions
	}
}

type response struct {
	Values  values            `json:"values,omitempty"`
	Texts   map[string]string `json:"texts,omitempty"`
	Objects []values          `json:"objects,omitempty"`
	Error   string            `json:"error,omitempty"`
}

// Files of the chart; Helm follows symbolic links, and so does ReadFile.
type files struct{ folder string }

func (f files) Get(name string) string {
	text, _ := os.ReadFile(filepath.Join(f.folder, name))
	return string(text)
}

type apiVersions []string

func (known apiVersions) Has(version string) bool {
	for _, each := range known {
		if each == version {
			return true
		}
	}
	return false
}

func main() {
	var given request
	check(json.NewDecoder(os.Stdin).Decode(&given))
	if given.Yaml != "" {
		found, err := objects(map[string]string{"": given.Yaml})
		check(err)
		check(json.NewEncoder(os.Stdout).Encode(found))
		return
	}
	all, defaults, about := templates(given.Chart), parsed(filepath.Join(given.Chart, "values.yaml")), chart(given.Chart)
	responses := []response{}
	for _, each := range given.Cases {
		merged := defaults
		for _, file := range each.Files {
			merged = merge(merged, parsed(file))
		}
		merged = merge(merged, each.Values)
		version := values{"Version": "v1.30.0", "Major": "1", "Minor": "30", "GitVersion": "v1.30.0"}
		texts, err := render(all, values{
			"Values": merged,
			"Release": values{"Name": each.Name, "Namespace": each.Namespace, "Service": each.Service, "Revision": 1,
				"IsInstall": true, "IsUpgrade": false},
			"Files":        files{given.Chart},
			"Chart":        about,
			"Capabilities": values{"APIVersions": each.Apis, "KubeVersion": version},
		})
		result := response{Values: merged, Texts: texts}
		if err == nil {
			result.Objects, err = objects(texts)
		}
		if err != nil {
			result.Error = err.Error()
		}
		responses = append(responses, result)
	}
	check(json.NewEncoder(os.Stdout).Encode(responses))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// YAML by way of JSON, as Helm reads it: every number is a float64.
func parsed(file string) values {
	text, err := os.ReadFile(file)
	check(err)
	result := values{}
	check(yaml.Unmarshal(text, &result))
	return result
}

// Chart.yaml with the names that templates use: .Chart.AppVersion for appVersion.
func chart(folder string) values {
	result := values{}
	for name, each := range parsed(filepath.Join(folder, "Chart.yaml")) {
		result[strings.ToUpper(name[:1])+name[1:]] = each
	}
	return result
}

// Maps are merged deeply, everything else is replaced, and null removes what the chart has.
func merge(base, more values) values {
	result := values{}
	for name, each := range base {
		result[name] = each
	}
	for name, each := range more {
		old, isMap := result[name].(values)
		inner, isMapToo := each.(values)
		switch {
		case each == nil:
			delete(result, name)
		case isMap && isMapToo:
			result[name] = merge(old, inner)
		case isMapToo:
			result[name] = merge(values{}, inner)
		default:
			result[name] = each
		}
	}
	return result
}

// All files of the folder templates, each of which may use what another defines.
func templates(folder string) *template.Template {
	names, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	check(err)
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(functions(all))
	for _, file := range names {
		text, err := os.ReadFile(file)
		check(err)
		template.Must(all.New(path.Base(file)).Parse(string(text)))
	}
	return all
}

func render(all *template.Template, top values) (map[string]string, error) {
	rendered := map[string]string{}
	named := all.Templates()
	sort.Slice(named, func(i, j int) bool { return named[i].Name() < named[j].Name() })
	for _, each := range named {
		name := each.Name()
		if strings.HasPrefix(name, "_") || path.Ext(name) != ".yaml" && name != "NOTES.txt" {
			continue
		}
		top["Template"] = values{"Name": "templates/" + name, "BasePath": "templates"}
		var text strings.Builder
		if err := all.ExecuteTemplate(&text, name, top); err != nil {
			return nil, err
		}
		// Go prints it for a missing key of a map, in spite of missingkey=zero; Helm removes it.
		rendered[name] = strings.ReplaceAll(text.String(), "<no value>", "")
	}
	return rendered, nil
}

var separator = regexp.MustCompile(`(?m)^---\s*$`)

// As Kubernetes reads them; a key that is there twice is an error.
func objects(texts map[string]string) ([]values, error) {
	result := []values{}
	for name, text := range texts {
		if name == "NOTES.txt" {
			continue
		}
		for _, document := range separator.Split(text, -1) {
			object := values{}
			if err := yaml.UnmarshalStrict([]byte(document), &object); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if len(object) > 0 {
				result = append(result, object)
			}
		}
	}
	return result, nil
}

func functions(all *template.Template) template.FuncMap {
	include := func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	result := sprig.TxtFuncMap()
	delete(result, "env")
	delete(result, "expandenv")
	added := template.FuncMap{
		"include": include,
		"tpl": func(text string, data interface{}) (string, error) {
			clone, err := all.Clone()
			if err != nil {
				return "", err
			}
			one, err := clone.New("tpl").Parse(text)
			if err != nil {
				return "", err
			}
			var written strings.Builder
			err = one.Execute(&written, data)
			return written.String(), err
		},
		"required": func(message string, value interface{}) (interface{}, error) {
			if value == nil || value == "" {
				return nil, errors.New(message)
			}
			return value, nil
		},
		"fail":   func(message string) (string, error) { return "", errors.New(message) },
		"lookup": func(...string) values { return values{} },
		"toYaml": func(value interface{}) string {
			text, _ := yaml.Marshal(value)
			return strings.TrimSuffix(string(text), "\n")
		},
		"toJson": func(value interface{}) string {
			text, _ := json.Marshal(value)
			return string(text)
		},
		"fromYaml": func(text string) values {
			result := values{}
			if err := yaml.Unmarshal([]byte(text), &result); err != nil {
				result["Error"] = err.Error()
			}
			return result
		},
		"fromYamlArray": func(text string) []interface{} {
			result := []interface{}{}
			if err := yaml.Unmarshal([]byte(text), &result); err != nil {
				result = []interface{}{err.Error()}
			}
			return result
		},
	}
	for name, each := range added {
		result[name] = each
	}
	return result
}
