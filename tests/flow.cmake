# SPDX-License-Identifier: Apache-2.0
# The program as its users see it: one ctest test per tests/flow/test_*.py, through pytest.
find_program(ASSAY_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(ASSAY_PYTHON python3 REQUIRED)
set(flow ${CMAKE_CURRENT_SOURCE_DIR}/flow)
file(GLOB scripts CONFIGURE_DEPENDS RELATIVE ${flow} ${flow}/test_*.py)
foreach(script IN LISTS scripts)
  string(REGEX REPLACE "^test_(.*)\\.py$" "flow_\\1" name ${script})
  add_test(NAME ${name} COMMAND ${ASSAY_PYTHON} -m pytest -q -rs -p no:cacheprovider ${flow}/${script})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS flow
    ENVIRONMENT "ASSAY=$<TARGET_FILE:assay>;ASSAY_SANITIZED=${ASSAY_SANITIZE};PYTHONDONTWRITEBYTECODE=1")
endforeach()
if(EXISTS ${flow}/install_test.sh)
  add_test(NAME flow_install COMMAND sh ${flow}/install_test.sh ${CMAKE_BINARY_DIR})
  set_tests_properties(flow_install PROPERTIES TIMEOUT 600 LABELS flow)
endif()
# These weigh time and memory: not beside others.
foreach(name IN ITEMS flow_soak flow_time)
  if(TEST ${name})
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
  endif()
endforeach()
